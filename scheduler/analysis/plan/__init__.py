"""A change of policy held against the policy before it, on the same work: for pipelines."""
