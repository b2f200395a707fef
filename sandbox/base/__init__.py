"""What every other package of the sandbox uses and that uses none of them."""
