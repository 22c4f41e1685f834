"""What memory decides, one verb a file: no disk, no clock."""
