import type { Project } from '@twofold/schema';
import { code, file, raw, HEADER, type Code } from '../code.ts';

/**
 * `src/generated/schema.graphql.ts`: the served SDL, unchanged. What `api.crud` wrote is read from
 * its own file, unless a definition of the user has taken the place of one in it.
 */
export function renderSchema({ sdl, crudSdl = '' }: Project): string {
  const isApart = crudSdl !== '' && sdl.endsWith(crudSdl);
  const own = isApart ? sdl.slice(0, -crudSdl.length) : sdl;
  const text = raw(`/* GraphQL */ \`\n${inTemplate(own.trim())}\n\``);
  return file(
    HEADER,
    code`
      /** The SDL that the server serves. */
      export const sdl = ${isApart ? code`${text} + ${crudFile}` : text};
    `,
  );
}

const crudFile: Code = {
  text: "readFileSync(new URL('crud.graphql', import.meta.url), 'utf8')",
  imports: [{ from: 'node:fs', name: 'readFileSync', as: 'readFileSync', typeOnly: false }],
};

/** Escapes a text for a template literal. */
function inTemplate(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('`', '\\`')
    .replaceAll('${', '\\${')
    .replaceAll('\r', '');
}
