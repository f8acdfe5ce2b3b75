/** The parts of an OpenAPI document that the page shows. */
interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
  };
  readonly responses?: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
      }
    >
  >;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

type Schema = Readonly<Record<string, any>>;
type Document = Readonly<Record<string, any>>;

/**
 * Renders a page about every endpoint of a document: one file, without scripts or requests.
 *
 * @example renderReference(openapiDocument(project), '/graphql') // '<!doctype html>…'
 */
export function renderReference(document: Document, graphqlPath: string): string {
  const title = escape(document['info']?.title ?? 'API');
  const groups = groupByTag(document);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: API reference</title>
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Groups">
<h1>${title}</h1>
<ul>${[...groups.keys()].map((tag) => `<li><a href="#${anchor(tag)}">${escape(tag)}</a></li>`).join('')}<li><a href="#schemas">Schemas</a></li></ul>
<p><a href="/api/openapi.json">openapi.json</a> · GraphQL at <code>${escape(graphqlPath)}</code></p>
</nav>
<main>
<p>Calls that need a caller take <code>Authorization: Bearer &lt;accessToken&gt;</code> or <code>X-API-Key: &lt;key&gt;</code>. Errors are <code>{"error": "message"}</code>.</p>
${[...groups].map(([tag, calls]) => section(tag, calls)).join('\n')}
${schemasSection(document)}
</main>
</body>
</html>
`;
}

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function groupByTag(document: Document): Map<string, Endpoint[]> {
  const groups = new Map<string, Endpoint[]>();
  for (const [path, item] of Object.entries(
    (document['paths'] ?? {}) as Record<string, Record<string, Operation>>,
  )) {
    for (const [method, operation] of Object.entries(item)) {
      const tag = operation.tags?.[0] ?? 'other';
      groups.set(tag, [
        ...(groups.get(tag) ?? []),
        { method: method.toUpperCase(), path, operation },
      ]);
    }
  }
  return groups;
}

const section = (
  tag: string,
  endpoints: readonly Endpoint[],
) => `<section id="${anchor(tag)}" aria-labelledby="${anchor(tag)}-title">
<h2 id="${anchor(tag)}-title">${escape(tag)}</h2>
${endpoints.map(endpoint).join('\n')}
</section>`;

function endpoint({ method, path, operation }: Endpoint): string {
  return `<details>
<summary><b class="${method}">${method}</b> <code>${escape(path)}</code> <span>${escape(operation.summary ?? '')}</span></summary>
<div>
${operation.description ? `<p>${escape(operation.description)}</p>` : ''}
<p>${signIn(operation)}</p>
${parametersTable(operation.parameters ?? [])}
${bodyOf(operation)}
${responsesTable(operation)}
<pre><code>${escape(curl(method, path, operation))}</code></pre>
</div>
</details>`;
}

function signIn({ security = [] }: Operation): string {
  const names = security.flatMap((entry) => Object.keys(entry));
  return names.length === 0
    ? 'Needs no caller.'
    : `Takes ${names.map((name) => (name === 'bearer' ? 'a bearer token' : 'an API key')).join(' or ')}.`;
}

/** Shows the comparisons of a field in its row: `title`, and `_ne _in _contains …`. */
function parametersTable(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return '';
  const names = new Set(parameters.map(({ name }) => name));
  const baseOf = (name: string) =>
    [name.slice(0, name.lastIndexOf('_'))].find((base) => names.has(base));
  const comparisons = Map.groupBy(parameters, ({ name }) => baseOf(name));
  const rows = (comparisons.get(undefined) ?? []).map(
    ({ name, in: place, required, description, schema }) => {
      const words = (comparisons.get(name) ?? []).map(
        (parameter) => `<code>${escape(parameter.name.slice(name.length))}</code>`,
      );
      return `<tr><td><code>${escape(name)}</code></td><td>${place}${required ? ', required' : ''}</td><td>${typeOf(schema)}</td><td>${escape(description ?? '')}${words.join(' ')}</td></tr>`;
    },
  );
  return `<h3>Parameters</h3><table><thead><tr><th>Name</th><th>In</th><th>Type</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function bodyOf({ requestBody }: Operation): string {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  return type === undefined
    ? ''
    : `<h3>Body</h3><p><code>${escape(type)}</code> ${typeOf(content?.schema)}</p>${propertiesTable(content?.schema)}`;
}

function responsesTable({ responses = {} }: Operation): string {
  const rows = Object.entries(responses).map(
    ([status, { description, content }]) =>
      `<tr><td>${escape(status)}</td><td>${escape(description ?? '')}</td><td>${typeOf(Object.values(content ?? {})[0]?.schema)}</td></tr>`,
  );
  return `<h3>Answers</h3><table><thead><tr><th>Status</th><th></th><th>Body</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function schemasSection(document: Document): string {
  const schemas = Object.entries((document['components']?.schemas ?? {}) as Record<string, Schema>);
  if (schemas.length === 0) return '';
  const entries = schemas.map(
    ([name, schema]) =>
      `<details id="schema-${anchor(name)}"><summary><code>${escape(name)}</code></summary><div>${schema['description'] ? `<p>${escape(schema['description'])}</p>` : ''}${schema['enum'] ? `<p>${typeOf(schema)}</p>` : propertiesTable(schema)}</div></details>`,
  );
  return `<section id="schemas"><h2>Schemas</h2>${entries.join('\n')}</section>`;
}

function propertiesTable(schema: Schema | undefined): string {
  const properties = Object.entries((schema?.['properties'] ?? {}) as Record<string, Schema>);
  if (properties.length === 0) return '';
  const required = new Set<string>(schema?.['required'] ?? []);
  const rows = properties.map(
    ([name, property]) =>
      `<tr><td><code>${escape(name)}</code></td><td>${typeOf(property)}${required.has(name) ? ', required' : ''}</td><td>${escape(property['description'] ?? '')}</td></tr>`,
  );
  return `<table><thead><tr><th>Field</th><th>Type</th><th></th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** A short text for a schema. */
function typeOf(schema: Schema | undefined): string {
  if (!schema) return '';
  if (typeof schema['$ref'] === 'string') {
    const name = schema['$ref'].split('/').pop() ?? '';
    return `<a href="#schema-${anchor(name)}">${escape(name)}</a>`;
  }
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return choices.map(typeOf).join(' or ');
  if (Array.isArray(schema['enum']))
    return schema['enum'].map((value) => `<code>${escape(String(value))}</code>`).join(' ');
  if (schema['items']) return `list of ${typeOf(schema['items'])}`;
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  if (members.length > 0 && members.length <= 4)
    return `{ ${members.map(([name, member]) => `${escape(name)}: ${typeOf(member)}`).join(', ')} }`;
  const type = [schema['type'] ?? 'any'].flat().join(' or ');
  return escape(schema['format'] ? `${type} (${schema['format']})` : type);
}

function curl(method: string, path: string, { security = [], requestBody }: Operation): string {
  const lines = [`curl${method === 'GET' ? '' : ` -X ${method}`} "$BASE_URL${path}"`];
  if (security.length > 0) lines.push('-H "Authorization: Bearer $ACCESS_TOKEN"');
  if (requestBody?.content?.['application/json'])
    lines.push(`-H "Content-Type: application/json" -d '{…}'`);
  return lines.join(' \\\n  ');
}

const anchor = (text: string) => encodeURIComponent(text.toLowerCase().replaceAll(' ', '-'));

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Descriptions are the user's text and may not contain markup. */
const escape = (text: string) =>
  String(text).replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: grid; grid-template-columns: 16rem minmax(0, 1fr); }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); }
nav ul { list-style: none; padding: 0; }
h1 { font-size: 1.2rem; overflow-wrap: anywhere; } h2 { margin: 2rem 0 .5rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
main { padding: 1rem 2rem 4rem; max-width: 70rem; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .4rem 0; }
details > div { padding: 0 1rem 1rem; overflow-x: auto; }
summary { padding: .4rem .8rem; cursor: pointer; overflow-wrap: anywhere; }
summary span { opacity: .8; }
summary b { display: inline-block; min-width: 4.2rem; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--line); }
pre { background: var(--soft); padding: .8rem; overflow-x: auto; border-radius: .4rem; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; border: 0; max-height: none; } main { padding: 1rem; } }
`;
