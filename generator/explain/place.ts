import type { Project } from '@twofold/schema';
import { memberRange } from '../edit/insert-member.ts';

/** Texts of the project's files, by path. */
export interface ProjectTexts {
  readonly get: (path: string) => string | null;
}

/**
 * Finds the line of a type or field, as `src/generated/resolvers.ts:14`: in the user's function,
 * among the inferred resolvers, as a column, or as a type.
 */
export async function placeOf(
  coordinate: string,
  { texts, userFiles, project }: Searched,
): Promise<string | null> {
  const [type = '', field] = coordinate.split('.');
  const entity = `^    ${propertyName(type)}: \\{`;
  if (field === undefined)
    return (
      lineWithin('src/generated/model.ts', texts, [entity]) ??
      lineWithin('src/generated/types.ts', texts, [`^export type ${type} = `])
    );
  const source = project.entities
    .find(({ name }) => name === type)
    ?.fields.find(({ name }) => name === field)?.source;
  const column =
    source?.kind === 'column'
      ? [
          lineWithin('src/generated/model.ts', texts, [
            entity,
            `^        ${propertyName(source.column)}: `,
          ]),
        ]
      : [];
  return (
    (await ownPlace(type, field, { texts, userFiles })) ??
    lineWithin('src/generated/resolvers.ts', texts, [
      `^  ${propertyName(type)}: \\{`,
      `^    ${propertyName(field)}: `,
    ]) ??
    column[0] ??
    lineWithin('src/generated/types.ts', texts, [
      `^export type ${type} = `,
      `^  ${propertyName(field)}\\??: `,
    ])
  );
}

export interface Searched {
  readonly texts: ProjectTexts;
  readonly userFiles: readonly string[];
  readonly project: Project;
}

/** The line in the file of the type, or else in a plugin that names type and field. */
async function ownPlace(
  type: string,
  field: string,
  { texts, userFiles }: Pick<Searched, 'texts' | 'userFiles'>,
): Promise<string | null> {
  const path = `src/resolvers/${type}.ts`;
  const text = texts.get(path);
  const at = text === null ? null : await memberRange(text, field);
  if (text !== null && at) return `${path}:${text.slice(0, at.start).split('\n').length}`;
  for (const plugin of userFiles.filter((each) => each.startsWith('src/plugins/'))) {
    const found = lineWithin(plugin, texts, [`\\b${type}\\b`, `\\b${field}\\b`]);
    if (found) return found;
  }
  return null;
}

/** The line of the last pattern. Each pattern is searched from the match of the one before it. */
function lineWithin(path: string, texts: ProjectTexts, patterns: readonly string[]): string | null {
  const lines = texts.get(path)?.split(/\r?\n/) ?? [];
  let at = -1;
  for (const pattern of patterns) {
    const found = lines.findIndex(
      (line, index) =>
        (pattern.startsWith('^') ? index > at : index >= at) && new RegExp(pattern).test(line),
    );
    if (found < 0) return null;
    at = found;
  }
  return `${path}:${at + 1}`;
}

/** A property name as templates print it, with or without quotes. */
const propertyName = (name: string) => `(?:${name}|'${name}')`;
