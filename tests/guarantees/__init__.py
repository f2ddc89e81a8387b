"""What must never break (nothing lost, nothing bought twice, nothing hostile let in), shown within
this process: no server, no Prefect, no database but files. Takes longer than the quick tests."""
