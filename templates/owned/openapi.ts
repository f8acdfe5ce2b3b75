import { openapiDocument, type Project } from '@twofold/schema';

/** `src/generated/openapi.json`: every endpoint of the server, OpenAPI 3.1. Paths and schemas in order of their names. */
export function renderOpenapi(project: Project): string {
  const document = openapiDocument(project) as {
    readonly paths: object;
    readonly components: { readonly schemas: object };
  };
  const { components, paths } = document;
  return `${JSON.stringify({ ...document, paths: byName(paths), components: { ...components, schemas: byName(components.schemas) } }, null, 2)}\n`;
}

function byName(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
