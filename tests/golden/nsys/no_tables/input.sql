CREATE TABLE recipes (id INTEGER PRIMARY KEY, name TEXT);
INSERT INTO recipes VALUES (1, 'bread');
