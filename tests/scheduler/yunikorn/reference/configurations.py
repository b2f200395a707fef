"""Small configurations drawn at random, of which many are refused."""

from __future__ import annotations

import random
from typing import Any

_AMOUNTS = ["1", "2", "2", "3", "4", "8"]
_ODD_AMOUNTS = ["0", "500m", "1Ki", "1k", "-1", "x", "1.5", "9E", "99E", "2 k"]
_NAMES = ["a", "b", "c", "d", "a", "B", "te!am", "x.y", "a@b", "n" * 65]
_PEOPLE = ["ann", "bob", "k.im$", "*", "*", "1st", "a b"]
_ACLS = ["", "*", "ann", "ann,bob dev", " dev", "  ", " ann dev", "a  b", "a b c"]
_ENTRIES = [["ann"], ["^a"], ["a b"], ["(a"], ["ann", "(b"], ["a.*|b"], ["x.y$"]]
_VALUES = ["root.a", "root", "root.a.c", "a", "b", "A", "a.b", "new", "new.x", "a.new"]


class Drawn:
    """One configuration; `odd` is how often a part is one that may be refused."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.odd = draw.choice([0.0, 0.01, 0.04])

    def config(self) -> dict[str, Any]:
        partitions = [self.partition()]
        if self.rare():
            other = self.draw.choice(["default", "DEFAULT", "gpu", ""])
            partitions.append({**self.partition(), "name": other})
        return {"partitions": partitions}

    def rare(self) -> bool:
        return self.draw.random() < self.odd

    def often(self, share: float) -> bool:
        return self.draw.random() < share

    def partition(self) -> dict[str, Any]:
        names = ["root"] if not self.rare() else ["Root", "top", "root", "a"]
        tops = [self.queue(self.draw.choice(names), 0)]
        if self.rare():
            tops.append(self.queue("other", 1))
        found: dict[str, Any] = {"name": "default", "queues": tops}
        if self.often(0.1):
            found["limits"] = self.limits()
            if self.often(0.3):
                tops[0]["limits"] = found["limits"]
        if self.often(0.5):
            found["placementrules"] = [self.rule() for _ in range(2)]
        if self.often(0.3):
            types = [
                "fair",
                "binpacking",
                "",
                *(["Fair", "best"] if self.rare() else []),
            ]
            weight = -1.0 if self.rare() else 2.0
            found["nodesortpolicy"] = {
                "type": self.draw.choice(types),
                "resourceweights": {"vcore": weight},
            }
        return self.misspelt(found)

    def misspelt(self, found: dict[str, Any]) -> dict[str, Any]:
        return {**found, "Limit": 1} if self.often(self.odd / 5) else found

    def queue(self, name: str, level: int) -> dict[str, Any]:
        found: dict[str, Any] = {"name": name}
        if (level and self.often(0.3)) or self.rare():
            kind = self.draw.choice(["guaranteed", "max", "max"])
            found["resources"] = {kind: self.amounts()}
            if self.often(0.2):
                found["resources"]["guaranteed"] = self.amounts()
        if self.often([0.1, 0.2, 0.3, 0.3][level]):
            found["maxapplications"] = self.draw.choice([1, 2, 4, 4, 0])
        if self.often(0.15):
            found["limits"] = self.limits()
        if self.often(0.2):
            acls = _ACLS if self.rare() else _ACLS[:5]
            found[self.draw.choice(["submitacl", "adminacl"])] = self.draw.choice(acls)
        if self.often(0.1):
            found["parent"] = self.often(0.7)
        if self.often(0.1):
            found["childtemplate"] = {"resources": {"max": self.amounts()}}
        if level < 3 and self.often([1, 0.7, 0.3][level]):
            size = self.draw.randrange(1, 4)
            names = self.draw.choices(_NAMES, k=size) if self.rare() else _NAMES[:size]
            found["queues"] = [self.queue(each, level + 1) for each in names]
        return self.misspelt(found)

    def amounts(self) -> dict[str, str]:
        kinds = self.draw.sample(["vcore", "memory", "gpu"], self.draw.randrange(1, 4))
        return {kind: self.amount() for kind in kinds}

    def amount(self) -> str:
        return self.draw.choice(_ODD_AMOUNTS if self.rare() else _AMOUNTS)

    def limits(self) -> list[dict[str, Any]]:
        return [self.limit(number) for number in range(self.draw.randrange(1, 3))]

    def limit(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.often(0.6):
            found["users"] = [["ann", "ann$"], ["bob", "*"]][number][:]
        if self.often(0.4) or not found:
            found["groups"] = [["dev"], ["ops", "*"]][number][:]
        if self.rare():
            holder = self.draw.choice(["users", "groups"])
            found[holder] = self.draw.choices(_PEOPLE, k=self.draw.randrange(3))
        if self.often(0.6):
            found["maxresources"] = self.amounts()
        if self.often(0.5) or ("maxresources" not in found and not self.rare()):
            found["maxapplications"] = self.draw.choice([1, 1, 2, 4])
        return found

    def rule(self, depth: int = 0) -> dict[str, Any]:
        names = ["fixed", "fixed", "provided", "user", "tag", "Fixed"]
        odd = ["", "no-name", "1st", "own"] if self.rare() else names
        found: dict[str, Any] = {"name": self.draw.choice(odd)}
        if depth < 2 and self.often(0.3):
            found["parent"] = self.rule(depth + 1)
        made = found.get("parent", {}).get("create", True)
        found["create"] = made and self.often(0.8)
        if found["name"] in ("fixed", "Fixed", "tag"):
            values = _VALUES[3:] if "parent" in found else _VALUES
            found["value"] = self.draw.choice(values)
        if self.often(0.2):
            kinds = ["allow", "deny", "", "Deny", *(["refuse"] if self.rare() else [])]
            entries = _ENTRIES if self.rare() else _ENTRIES[:2]
            found["filter"] = {
                "type": self.draw.choice(kinds),
                self.draw.choice(["users", "groups"]): self.draw.choice(entries),
            }
        return found
