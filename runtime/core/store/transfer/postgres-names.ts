import { quotedName } from '../tables/quoting.ts';
/** The name of a table with its schema. */
export const named = ({
  schema,
  name,
}: {
  readonly schema: string;
  readonly name: string;
}): string => `${quotedName(schema)}.${quotedName(name)}`;
