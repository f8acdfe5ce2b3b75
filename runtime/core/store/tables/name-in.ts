/** The first name in a part of a statement: of a table without its schema. */
export function nameIn(part: unknown): string | null {
  if (typeof part !== 'object' || part === null) return null;
  const { kind, schema: _schema, ...inner } = part as Record<string, unknown>;
  if (kind === 'IdentifierNode') return String(inner['name']);
  for (const each of Object.values(inner)) {
    const name = nameIn(each);
    if (name !== null) return name;
  }
  return null;
}
