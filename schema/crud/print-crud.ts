import { block, type CrudItem } from './item.ts';
import type { CrudSdl } from './write-crud.ts';

/** The file of the added SDL. Findings about it name this path. */
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
  const byOwner = Map.groupBy(items, ({ owner }) => owner);
  const extensions = [...byOwner].flatMap(([owner, fields]) =>
    owner === undefined ? [] : [extensionOf(owner, fields, isDefined)],
  );
  const types = (byOwner.get(undefined) ?? []).map(({ text }) => text);
  return [...extensions, ...types].join('\n\n');
}

function extensionOf(
  owner: string,
  fields: readonly CrudItem[],
  isDefined: (type: string) => boolean,
): string {
  const keyword = isDefined(owner) ? 'extend type' : 'type';
  return block(
    keyword,
    owner,
    fields.map(({ text }) => text),
  );
}
