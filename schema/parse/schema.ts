import { buildASTSchema, isTypeDefinitionNode, Kind } from 'graphql';
import type {
  DefinitionNode,
  DocumentNode,
  GraphQLSchema,
  ScalarTypeDefinitionNode,
} from 'graphql';
import { positionAt, type Diagnostic, type SourceText } from '../diagnostic.ts';
import { isOurDefinition } from '../our-directives.ts';
import { usesWithin, type DirectiveUse } from './directive-places.ts';
import { schemaFindings, unknownTypes } from './sdl-rules.ts';
import { servedSdl } from './served-sdl.ts';
import type { KnownPieces } from './pieces.ts';
import { placed } from './places.ts';
import { parseFile, type ParsedFile } from './syntax.ts';

/** The SDL as graphql-js objects. Its nodes have no positions: `placed` looks them up. */
export interface ParsedSchema {
  readonly files: readonly ParsedFile[];
  /** The user's definitions; copies of our directives are left out. */
  readonly document: DocumentNode;
  /** Every use of a directive, in the order of the text. */
  readonly uses: readonly DirectiveUse[];
  readonly schema: GraphQLSchema;
  /** The served SDL. */
  readonly sdl: string;
  /**
   * Names that are used but not defined. They are replaced by scalars, so that the rest can be
   * checked.
   */
  readonly unknown: ReadonlySet<string>;
  /** The SDL that `api.crud` has added. */
  readonly crudSdl?: string;
  /** The fields in it: `Query.posts`. */
  readonly crudFields?: ReadonlySet<string>;
}

/**
 * Reads the SDL. `parsed` is null only if there is nothing to continue with: a syntax error, or no
 * definition at all.
 *
 * @example
 * parseSchema([{ file: 'schema.graphql', text: 'type Query { hello: String }' }]).parsed?.sdl
 */
export function parseSchema(
  sources: readonly SourceText[],
  unused: KnownPieces = new Map(),
): { parsed: ParsedSchema | null; diagnostics: Diagnostic[] } {
  return understandFiles(sources.map((source) => parseFile(source, unused)));
}

/** Like `understand`, for files that are already parsed. */
export function understandFiles(files: readonly ParsedFile[]): {
  parsed: ParsedSchema | null;
  diagnostics: Diagnostic[];
} {
  const diagnostics = files.flatMap((file) => file.diagnostics);
  const all = files.flatMap(({ pieces }) => pieces.flatMap(({ definitions }) => definitions));
  if (diagnostics.length > 0) return { parsed: null, diagnostics };
  if (all.every(isOurDefinition))
    return { parsed: null, diagnostics: [emptySchema(files[0]?.source)] };
  return understand(files, all);
}

function understand(
  files: readonly ParsedFile[],
  all: readonly DefinitionNode[],
): { parsed: ParsedSchema; diagnostics: Diagnostic[] } {
  const document: DocumentNode = {
    kind: Kind.DOCUMENT,
    definitions: all.filter((definition) => !isOurDefinition(definition)),
  };
  const unknown = unknownTypes(document);
  const schema = buildASTSchema(repaired(document, unknown.keys()), { assumeValidSDL: true });
  const parsed = {
    files,
    document,
    uses: document.definitions.flatMap((definition) => usesWithin(definition)),
    schema,
    sdl: servedSdl(files),
    unknown: new Set(unknown.keys()),
  };
  return { parsed, diagnostics: placed(schemaFindings(document, schema, unknown), files) };
}

/**
 * A document that graphql-js accepts in spite of errors: duplicate definitions are removed, and
 * unknown names defined.
 */
function repaired(document: DocumentNode, unknown: Iterable<string>): DocumentNode {
  const seen = new Set<string>();
  const definitions = document.definitions.filter((definition) => {
    if (!isTypeDefinitionNode(definition)) return true;
    const again = seen.has(definition.name.value);
    seen.add(definition.name.value);
    return !again;
  });
  return { kind: Kind.DOCUMENT, definitions: [...definitions, ...Array.from(unknown, standIn)] };
}

function standIn(name: string): ScalarTypeDefinitionNode {
  return { kind: Kind.SCALAR_TYPE_DEFINITION, name: { kind: Kind.NAME, value: name } };
}

function emptySchema(source: SourceText = { file: 'schema.graphql', text: '' }): Diagnostic {
  return {
    code: 'SCHEMA_EMPTY',
    severity: 'error',
    summary: 'The schema defines nothing',
    why: 'a GraphQL server answers queries, so it needs a type Query',
    fix: 'type Query { users: [User!]! }   type User { id: ID! name: String! }',
    at: positionAt(source, 0),
  };
}
