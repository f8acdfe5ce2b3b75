import { block } from './item.ts';
import type { CrudItem } from './item.ts';
import type { CrudSdl } from './write-crud.ts';

/** Where the written SDL is, in the project and in findings about it. */
export const CRUD_FILE = 'src/generated/crud.graphql';

const HEADER = `# Written from your types, because of api.crud in manifest.yaml or @crud. What schema.graphql declares is yours
# and is not written again: \`npm run generator -- eject PostFilter\` moves a definition there, \`eject crud\` all.`;

const OPEN = `# The manifest has no auth section: all of it is open to everyone who reaches the server.`;

/**
 * The text of `src/generated/crud.graphql`; empty when the schema declares everything.
 *
 * @example printCrud(crud, (type) => type === 'Query') // 'extend type Query {\n  post(id: ID!): Post …'
 */
export function printCrud(
  { written, rootDefinition, isOpen }: CrudSdl,
  isDefined: (type: string) => boolean,
): string {
  if (written.length === 0 && rootDefinition === undefined) return '';
  const header = isOpen ? `${HEADER}\n${OPEN}` : HEADER;
  const parts = [header, printItems(written, isDefined), rootDefinition];
  return `${parts.filter((part) => part !== undefined && part !== '').join('\n\n')}\n`;
}

/** Fields grouped by the type that they extend, then types. */
export function printItems(
  items: readonly CrudItem[],
  isDefined: (type: string) => boolean,
): string {
  const owners = [...new Set(items.flatMap(({ owner }) => owner ?? []))];
  const extensions = owners.map((owner) => {
    const fields = items.filter((item) => item.owner === owner).map(({ text }) => text);
    return block(isDefined(owner) ? 'extend type' : 'type', owner, fields);
  });
  const types = items.flatMap(({ owner, text }) => (owner === undefined ? [text] : []));
  return [...extensions, ...types].join('\n\n');
}
