"""From bytes to fragments: read, parse, assemble, recognise; the only stage that touches every byte."""
