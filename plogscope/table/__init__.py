"""`table`: every record of every source as rows, part by part, in bounded memory."""
