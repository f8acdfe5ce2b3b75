import type { Diagnostic, Project, SourceText } from '@twofold/schema';
import { JOB_NAMES, type TypeNames, typeNamesOf } from '../templates/owned/type-names.ts';
import type { Sources } from './files.ts';
import { placeIn } from './orphan-members.ts';
import { userPartsOf } from './user-files.ts';

const DEFINITION = /^[ \t]*(?:type|interface|union|enum|input)[ \t]+(\w+)/gm;

/** The types of a text whose names `types.ts` has for others. */
export const takenTypes = (sdl: string, names: TypeNames): readonly RegExpExecArray[] =>
  [...sdl.matchAll(DEFINITION)].filter(([, name]) => names(name!) !== name);

/**
 * TYPE_NAME_TAKEN: `types.Credentials` is ours, so an input of this name is another type than the
 * user's code means.
 */
export function findTakenTypes({ sdl }: Project, sources: Sources): Diagnostic[] {
  const { jobs } = userPartsOf(sources.userFiles);
  const names = typeNamesOf(sdl, jobs.length > 0 ? JOB_NAMES : []);
  return sources.schema.flatMap((source) =>
    takenTypes(source.text, names).map((found) => hint(source, found, names)),
  );
}

function hint({ file, text }: SourceText, found: RegExpExecArray, names: TypeNames): Diagnostic {
  const name = found[1]!;
  const start = found.index + found[0].length - name.length;
  return {
    code: 'TYPE_NAME_TAKEN',
    severity: 'hint',
    summary: `In TypeScript, ${name} of the schema is types.${names(name)}`,
    why: `${name} alone has another meaning in src/generated/types.ts`,
    fix: `write types.${names(name)} in your code, or give the type of the schema another name`,
    at: { file, ...placeIn(text, start), length: name.length },
  };
}
