"""What is wrong with what was given: codes with their English words, and what is said."""

from __future__ import annotations

from scheduler.model.problems.files import FileProblem as FileProblem
from scheduler.model.problems.forms import Form as Form
from scheduler.model.problems.forms import expected as expected
from scheduler.model.problems.forms import in_field as in_field
from scheduler.model.problems.forms import parted as parted
from scheduler.model.problems.library import ApiServer as ApiServer
from scheduler.model.problems.library import NotYaml as NotYaml
from scheduler.model.problems.problems import Problem as Problem
from scheduler.model.problems.requests import RequestProblem as RequestProblem
from scheduler.model.problems.runs import GivenUp as GivenUp
from scheduler.model.problems.wanted import Wanted as Wanted
