import { locationOf } from '../present.ts';
import { isObjectType, isTypeDefinitionNode, Kind } from 'graphql';
import type { DefinitionNode, FieldDefinitionNode, ObjectTypeDefinitionNode } from 'graphql';
import { build } from '../build/project.ts';
import type { Parsed } from '../build/facts.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { locate, type KnownPieces } from '../parse/pieces.ts';
import { placed, type Finding } from '../parse/places.ts';
import { understandFiles } from '../parse/schema.ts';
import { parseFile, type ParsedFile } from '../parse/syntax.ts';
import { CRUD_FILE, printCrud, printItems } from './print-crud.ts';
import { writeCrud, type CrudSdl } from './write-crud.ts';
import type { Built } from '../build/built.ts';
import { finding, onType, type Advice } from '../rules/finding.ts';
import type { CrudItem } from './item.ts';
import { servedSdl } from '../parse/served-sdl.ts';

/** A schema and its mistakes. */
interface Checked {
  readonly parsed: Parsed;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * The schema with the SDL of `api.crud` and `@crud`, parsed again and checked as a whole. The
 * schema may use names that `api.crud` and `@crud` add.
 */
export function withCrud(
  parsed: Parsed,
  diagnostics: readonly Diagnostic[],
  unused: KnownPieces,
): Checked {
  const asks = parsed.manifest.values.api.crud !== false || usesDirective(parsed);
  if (!asks || hasOtherRoots(parsed)) return { parsed, diagnostics };
  const built = build(parsed);
  const crud = writeCrud(built);
  const { files } = parsed.schema;
  if (crud.taken.length > 0)
    return { parsed, diagnostics: [...diagnostics, ...placed(takenNames(built, crud), files)] };
  const { schema, parsed: read } = built.facts;
  const isDefined = (type: string) => schema.getType(type) !== undefined && !read.unknown.has(type);
  const text = printCrud(crud, isDefined);
  const all = text === '' ? files : [...files, parseFile({ file: CRUD_FILE, text }, unused)];
  const whole = understandFiles(all);
  if (!whole.parsed) return { parsed, diagnostics: whole.diagnostics };
  const sdl = servedWithCrud(files, crud, all);
  const crudFields = new Set(crud.written.map(({ name }) => name));
  const written = text === '' ? {} : { crudSdl: text, crudFields };
  return {
    parsed: { ...parsed, schema: { ...whole.parsed, sdl, ...written } },
    diagnostics: whole.diagnostics,
  };
}

/** `enum Mutation`: fields cannot be added, and there is a finding already. */
const hasOtherRoots = ({ schema: { schema } }: Parsed): boolean =>
  [schema.getQueryType(), schema.getMutationType()].some((root) => root && !isObjectType(root));

const usesDirective = ({ schema }: Parsed): boolean =>
  schema.uses.some(({ directive }) => directive.name.value === 'crud');

/**
 * CRUD_NAME_TAKEN, at both places: the definition that has a name, and the type that needs it for
 * what is written.
 */
function takenNames(built: Built, { taken, items }: CrudSdl): Finding[] {
  return taken.flatMap((item) => {
    const definition = built.facts.schema.getType(item.name)?.astNode;
    const needing = items.filter(({ name }) => name === item.name).map(({ of }) => of?.node);
    const places = [definition?.name, ...needing].filter((node) => node !== undefined);
    const by = definition ? 'definition' : 'repeated';
    return (places.length > 0 ? places : [undefined]).map((node) =>
      finding('CRUD_NAME_TAKEN', node, {
        summary: `${summaryOf(item)}, and ${OTHERS[by]}`,
        why: 'what is written has fixed names, so that it stays the same when types are added',
        ...advise(built, item, definition ? item.name : (item.of?.name ?? item.name)),
      }),
    );
  });
}

const summaryOf = ({ name, keyword, of }: CrudItem) =>
  `${name} is to be written as ${ARTICLES[keyword]}${of ? ` for ${of.name}` : ''}`;

const OTHERS = {
  definition: 'the schema uses it for something else',
  repeated: 'another type needs it too',
} as const;

/** @param yours the definition of the user that can have another name. */
function advise({ facts }: Built, item: CrudItem, yours: string): Advice {
  const entity = facts.entities.get(item.of?.name ?? '');
  if (!entity) return { fix: `rename ${yours}` };
  const operations = `[${operationsWithout(item, entity.name)}]`;
  return {
    changes: [onType(entity, 'crud', { operations })],
    fix: (line) => `rename ${yours}, or leave out what needs it: ${line}`,
  };
}

/** Operations of a type that do not need the item. Filters and orders of other types lead to its own. */
function operationsWithout({ name }: CrudItem, entity: string): string {
  if (name === `Create${entity}Input`) return 'GET, LIST, UPDATE, DELETE';
  return /(?:Filter|Order)$/.test(name) ? '' : 'GET, CREATE';
}

const ARTICLES: Readonly<Record<CrudItem['keyword'], string>> = {
  type: 'a type',
  input: 'an input',
  enum: 'an enum',
  scalar: 'a scalar',
};

/**
 * The served SDL. A definition of the user that replaces an added one, as after `eject`, is printed
 * in the place of the added one, so that the API does not change by a byte.
 */
function servedWithCrud(
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
        texts.set(name, piece.text.slice(locationOf(node).start, locationOf(node).end));
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
