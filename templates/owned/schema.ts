import type { Project } from '@twofold/schema';
import { code, file, raw } from '../code.ts';
import { HEADER } from './header.ts';

/** `src/generated/schema.graphql.ts`: the served SDL, unchanged. */
export function renderSchema(project: Project): string {
  const sdl = raw(`/* GraphQL */ \`\n${inTemplate(project.sdl.trim())}\n\``);
  return file(
    HEADER,
    code`
      /** The SDL that the server serves. */
      export const sdl = ${sdl};
    `,
  );
}

/** Escapes a text for a template literal. */
function inTemplate(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('`', '\\`')
    .replaceAll('${', '\\${')
    .replaceAll('\r', '');
}
