"""What controllers own: objects by the uid of the owner that made them."""

from __future__ import annotations

from collections import defaultdict

from scheduler.model.objects import Key, Object


class OwnedObjects:
    """The objects of each controller, by the references that they carry.

    By uid: what a controller of an earlier time made is not that of a later one
    of its name. Cost: that of a dictionary.
    """

    def __init__(self, owners: frozenset[str], owned: frozenset[str]) -> None:
        self._owners, self._kinds = owners, owned
        self._owned: dict[str, dict[Key, None]] = defaultdict(dict)
        self.owners: dict[Key, tuple[Key, str]] = {}  # what is owned -> owner, its uid

    def add(self, obj: Object) -> None:
        """Note whose an object is; kinds that no controller makes are nobody's."""
        if obj.key.kind not in self._kinds:
            return
        self.remove(obj.key)
        for reference in obj.metadata.get("ownerReferences") or []:
            kind, uid = reference.get("kind"), reference.get("uid")
            if kind in self._owners and uid:
                owner = Key(kind, obj.key.namespace, str(reference.get("name")))
                self._owned[uid][obj.key] = None
                self.owners[obj.key] = owner, uid

    def remove(self, key: Key) -> Key | None:
        """Forget an object; return whose it was."""
        owner, uid = self.owners.pop(key, (None, ""))
        self._owned.get(uid, {}).pop(key, None)
        return owner

    def owner_of(self, key: Key) -> Key | None:
        """Return the controller that made an object."""
        return self.owners.get(key, (None, ""))[0]

    def of(self, owner: Object) -> list[Key]:
        """Return the objects that a controller owns, sorted."""
        return sorted(self._owned.get(owner.uid, ()))
