"""What leaves a workspace in one archive, and what comes into it from one."""
