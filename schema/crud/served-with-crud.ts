import { isTypeDefinitionNode, Kind } from 'graphql';
import type { DefinitionNode, FieldDefinitionNode, ObjectTypeDefinitionNode } from 'graphql';
import { locate } from '../parse/pieces.ts';
import { servedSdl } from '../parse/served-sdl.ts';
import { parseFile, type ParsedFile } from '../parse/syntax.ts';
import { CRUD_FILE, printItems } from './print-crud.ts';
import type { CrudItem } from './item.ts';
import type { CrudSdl } from './write-crud.ts';

/**
 * The served SDL. A definition of the user that replaces an added one, as after `eject`, is printed
 * in the place of the added one, so that the API does not change by a byte.
 */
export function servedWithCrud(
  files: readonly ParsedFile[],
  crud: CrudSdl,
  whole: readonly ParsedFile[],
): string {
  const own = ownTexts(files, crud);
  if (own.texts.size === 0) return servedSdl(whole);
  const written = new Set(crud.written.map(({ name }) => name));
  const items = crud.items.flatMap((item) => {
    const text = own.texts.get(item.name) ?? (written.has(item.name) ? item.text : undefined);
    return text === undefined ? [] : [{ ...item, text }];
  });
  const rest = new Set(
    files.flatMap(({ pieces }) =>
      pieces.flatMap(({ definitions }) =>
        definitions.flatMap((each) =>
          isTypeDefinitionNode(each) && !own.definitions.has(each) ? [each.name.value] : [],
        ),
      ),
    ),
  );
  const text = printItems(items, (owner) => rest.has(owner));
  const roots = crud.rootDefinition === undefined ? '' : `\n\n${crud.rootDefinition}`;
  return servedSdl([...files, parseFile({ file: CRUD_FILE, text: text + roots })], own.definitions);
}

interface OwnTexts {
  /** Definitions that contain only parts that could also be added. */
  readonly definitions: ReadonlySet<DefinitionNode>;
  /** Their text, by the name of the item. */
  readonly texts: ReadonlyMap<string, string>;
}

function ownTexts(files: readonly ParsedFile[], { items }: CrudSdl): OwnTexts {
  const names = new Map(items.map((item) => [item.name, item]));
  const mutation = items.find(({ writes }) => writes)?.owner;
  const definitions = new Set<DefinitionNode>();
  const texts = new Map<string, string>();
  for (const piece of files.flatMap(({ pieces }) => pieces)) {
    const moved = piece.definitions.map((definition) => partsOf(definition, names, mutation));
    if (moved.every((parts) => parts.length === 0)) continue;
    const located = locate(piece);
    for (const [at, definition] of piece.definitions.entries()) {
      if (moved[at]!.length === 0) continue;
      definitions.add(definition);
      for (const { name, node } of partsOf(located[at]!, names, mutation))
        texts.set(name, piece.text.slice(node.loc!.start, node.loc!.end));
    }
  }
  return { definitions, texts };
}

interface Part {
  readonly name: string;
  readonly node: DefinitionNode | FieldDefinitionNode;
}

/** The items that a definition consists of; empty if it holds anything else. */
function partsOf(
  definition: DefinitionNode,
  items: ReadonlyMap<string, CrudItem>,
  mutation: string | undefined,
): Part[] {
  if (isTypeDefinitionNode(definition) && items.has(definition.name.value))
    return [{ name: definition.name.value, node: definition }];
  const isObject =
    definition.kind === Kind.OBJECT_TYPE_EXTENSION ||
    (definition.kind === Kind.OBJECT_TYPE_DEFINITION && isMutation(definition, mutation));
  if (!isObject || definition.directives?.length || definition.interfaces?.length) return [];
  const owner = definition.name.value;
  const fields = definition.fields ?? [];
  const isWhole = fields.every(({ name }) => items.has(`${owner}.${name.value}`));
  return isWhole ? fields.map((node) => ({ name: `${owner}.${node.name.value}`, node })) : [];
}

/** If the schema has no mutation, the first one is added together with the type `Mutation`. */
const isMutation = (
  { name, description }: ObjectTypeDefinitionNode,
  mutation: string | undefined,
): boolean => description === undefined && name.value === mutation;
