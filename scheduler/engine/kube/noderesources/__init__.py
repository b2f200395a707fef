"""What the resource plug-ins share: weighted resources and scoring strategies."""
