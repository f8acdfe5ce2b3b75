/**
 * The first line of every manifest, with which editors complete and check it by the JSON Schema.
 */
export const EDITOR_LINE =
  '# yaml-language-server: $schema=./node_modules/@twofold/schema/manifest.schema.json\n';

/** A YAML scalar whose value is exactly this text. */
export function yamlText(text: string): string {
  return /^[A-Za-z][\w -]*$/.test(text) &&
    !/^(true|false|null|yes|no|on|off)$/i.test(text) &&
    text === text.trim()
    ? text
    : JSON.stringify(text);
}

/** The release whose defaults the project has: a later release does not change them silently. */
export const defaultsLine = (release: string): string => `defaults: ${JSON.stringify(release)}\n`;

/** A REST module for each entity, in addition to GraphQL. */
export const REST = 'api: { rest: true }\n';
