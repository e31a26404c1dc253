"""What else the model should see: the policy gate and the index of a working tree. Never fails, only finds less."""
