"""What a person or the clock can do to a sandbox: one function and one transaction each.

Nothing is written but through here and `commits`. Who
acts comes first; they must be allowed to change the sandbox. Every action is
an event with who, what, before and after.
"""

from __future__ import annotations

from sandbox.actions.access import (
    do_end_tokens,
    do_member,
    do_open,
    do_revoke,
    do_share,
    do_token,
    do_unmember,
    do_unshare,
)
from sandbox.actions.archives import do_archive, do_restore, do_unarchive
from sandbox.actions.conversion import Conversion, convert_files_for, do_convert
from sandbox.actions.dry_imports import look_at_files
from sandbox.actions.identities import do_recognise
from sandbox.actions.import_plan import Imported
from sandbox.actions.lessons import (
    do_end_guests,
    do_end_lesson,
    do_guess,
    do_join,
    do_join_as_guest,
    do_start_lesson,
    do_update_lesson,
    do_write_script,
)
from sandbox.actions.nodes import do_add_node, do_cluster, do_node, evict
from sandbox.actions.objects import (
    delete_objects,
    do_delete,
    do_import,
    do_policy,
    put_objects,
)
from sandbox.actions.pins import do_move, do_pin
from sandbox.actions.retention import do_clear, do_set_retention, do_trim
from sandbox.actions.sandboxes import (
    do_create,
    do_delete_sandbox,
    do_first_run,
    do_rename,
    do_set_visibility,
)
from sandbox.actions.sessions import EditSession, allowed, edit_session
from sandbox.actions.ticks import do_fail, do_tick, do_ticks
from sandbox.actions.transport import do_pause, do_play, do_speed, do_step
from sandbox.actions.twins import do_follow_cluster, do_play_recording
from sandbox.actions.undo import do_fork, do_redo, do_rewind, do_undo, to_take_back
