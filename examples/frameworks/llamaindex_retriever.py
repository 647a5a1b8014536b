"""LlamaIndex: a retriever over everything that scrubjay remembers.

pip install scrubjay llama-index-core llama-index-llms-openai
OPENAI_API_KEY=... python examples/frameworks/llamaindex_retriever.py "who is on call?"
"""

import sys

from llama_index.core.llms import LLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from scrubjay import Memory


class ScrubjayRetriever(BaseRetriever):
    def __init__(self, memory: Memory, limit: int = 5) -> None:
        super().__init__()
        self.memory, self.limit = memory, limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self.memory.search(query_bundle.query_str, limit=self.limit).results
        return [
            NodeWithScore(
                node=TextNode(id_=x.id, text=x.snippet, metadata={"source": x.citation}), score=x.score
            )
            for x in found
        ]


def answer(question: str, memory: Memory, model: LLM) -> str:
    engine = RetrieverQueryEngine.from_args(ScrubjayRetriever(memory), llm=model)
    return str(engine.query(question))


if __name__ == "__main__":
    from llama_index.llms.openai import OpenAI

    with Memory.open() as memory:
        print(answer(sys.argv[1], memory, OpenAI(model="gpt-5")))
