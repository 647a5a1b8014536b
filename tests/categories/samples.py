"""Small worlds of memories whose topics are known: directions around a few poles, words of their own."""

from __future__ import annotations

import numpy as np

from scrubjay.categories.clustering import Matrix, TopicMember
from scrubjay.storage.scoring import unit_rows
from scrubjay.text.tokenizer import index_terms

SUBJECTS = {
    "garden": "seedlings compost tulips watering greenhouse pruning",
    "kitchen": "sourdough oven yeast simmering dumplings whisk",
    "compiler": "parser tokens bytecode linker registers inlining",
    "sailing": "rudder spinnaker harbour tacking anchor regatta",
    "chess": "bishop endgame gambit castling checkmate zugzwang",
    "banking": "mortgage dividend ledger overdraft interest audit",
}


def world(
    each: int = 12, subjects: int = 6, seed: int = 0, noise: float = 0.5, start: int = 0
) -> tuple[list[TopicMember], Matrix, list[str]]:
    """Memories of some subjects with their directions and what each is about; ids do not tell the subject."""
    random = np.random.default_rng(seed)
    poles = unit_rows(np.random.default_rng(7).normal(size=(len(SUBJECTS) + 1, 48)).astype(np.float32))
    leaves, rows, labels = [], [], []
    for number in range(start, start + each * subjects):
        subject = list(SUBJECTS)[number % subjects]
        words = random.permutation(SUBJECTS[subject].split())[:4]
        text = f"Note {number}: the {words[0]} and the {words[1]} of today. Also {words[2]} with {words[3]}."
        leaves.append(
            TopicMember(
                f"m{random.integers(1 << 40):012x}", f"About {words[0]}", text, index_terms(text).counts
            )
        )
        # All share one pole, as the texts of one person do.
        rows.append(poles[-1] + poles[number % subjects] + noise / 7 * random.normal(size=48))
        labels.append(subject)
    return leaves, unit_rows(np.array(rows, dtype=np.float32)), labels
