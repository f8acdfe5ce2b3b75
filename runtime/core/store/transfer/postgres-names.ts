/** A name as PostgreSQL and SQLite read it, whatever its letters. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The name of a table with its schema. */
export const named = ({
  schema,
  name,
}: {
  readonly schema: string;
  readonly name: string;
}): string => `${quoted(schema)}.${quoted(name)}`;
