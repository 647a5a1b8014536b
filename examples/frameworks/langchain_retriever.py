"""LangChain: a retriever over everything that scrubjay remembers.

pip install scrubjay langchain-core langchain-openai
OPENAI_API_KEY=... python examples/frameworks/langchain_retriever.py "who is on call?"
"""

import sys

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough

from scrubjay import Memory

PROMPT = ChatPromptTemplate.from_template("Answer from these notes:\n{notes}\n\nQuestion: {question}")


class ScrubjayRetriever(BaseRetriever):
    memory: Memory
    limit: int = 5

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        found = self.memory.search(query, limit=self.limit).results
        return [Document(x.snippet, id=x.id, metadata={"source": x.citation, "date": x.date}) for x in found]


def as_text(documents: list[Document]) -> str:
    return "\n".join(f"- {each.page_content} [{each.metadata['source']}]" for each in documents)


def answer(question: str, memory: Memory, model: BaseChatModel) -> str:
    retriever = ScrubjayRetriever(memory=memory)
    chain = {"notes": retriever | as_text, "question": RunnablePassthrough()} | PROMPT | model
    return (chain | StrOutputParser()).invoke(question)


if __name__ == "__main__":
    from langchain_openai import ChatOpenAI

    with Memory.open() as memory:
        print(answer(sys.argv[1], memory, ChatOpenAI(model="gpt-5")))
