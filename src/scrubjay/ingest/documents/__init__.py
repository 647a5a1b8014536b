"""Documents: PDF, DOCX, HTML and EPUB as text with headings or pages, read in a process of their own."""
