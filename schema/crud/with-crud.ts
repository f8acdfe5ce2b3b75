import { isObjectType } from 'graphql';
import { build } from '../build/project.ts';
import type { Parsed } from '../build/facts.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { KnownPieces } from '../parse/pieces.ts';
import { placed } from '../parse/places.ts';
import { understandFiles } from '../parse/schema.ts';
import { parseFile } from '../parse/syntax.ts';
import { CRUD_FILE, printCrud } from './print-crud.ts';
import { servedWithCrud } from './served-with-crud.ts';
import { takenNames } from './taken-names.ts';
import { writeCrud } from './write-crud.ts';

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
