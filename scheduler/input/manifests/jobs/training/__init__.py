"""Training jobs: a podset per role (Kubeflow, MPI), and TrainJob with its runtime."""
