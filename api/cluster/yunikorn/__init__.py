"""YuniKorn's own REST paths, to read: what its web interface and its users' scripts ask.

Below `/ws/v1/` as its scheduler serves them; times are nanoseconds, vcore is
milli-cores. Fields that the real answers leave out when empty are left out.
Source: <https://yunikorn.apache.org/docs/api/scheduler>
"""
