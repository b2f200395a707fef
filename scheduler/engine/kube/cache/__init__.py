"""What one scheduler knows of the cluster: nodes with their pods, as sums, arrays and indexes."""
