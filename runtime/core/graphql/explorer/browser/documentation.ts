import { type ElementChild, element } from './elements.ts';
import {
  type SchemaArgument,
  type SchemaMember,
  OPERATIONS,
  type ClientSchema,
  type SchemaType,
  type TypeReference,
} from './schema.ts';

/** Opens the page of a type. */
type Show = (type: string) => void;

const FOUND_FIELDS = 60;

/** The schema to read: a search over types and fields, and a page for each type. */
export function createDocumentation(
  host: HTMLElement,
  schemaOf: () => ClientSchema | null,
): { draw(): void } {
  const path: string[] = [];
  const show = (name: string) => {
    path.push(name);
    draw();
  };
  const back = () => {
    path.pop();
    draw();
  };
  function draw(): void {
    const schema = schemaOf();
    if (!schema) return host.replaceChildren(...UNREADABLE());
    const type = schema.types.get(path.at(-1) ?? '');
    if (!type) return host.replaceChildren(...startPage(schema, show));
    const above = link(`‹ ${path.at(-2) ?? 'Schema'}`, back);
    host.replaceChildren(above, ...present(typePage(type, show)));
  }
  return { draw };
}

const UNREADABLE = () => [
  element('h2', { textContent: 'Schema' }),
  element('p', {
    textContent:
      'The schema cannot be read: introspection is off, or you have to sign in (set a header below the editor).',
  }),
];

function startPage(schema: ClientSchema, show: Show): HTMLElement[] {
  const search = element('input', {
    type: 'search',
    placeholder: 'Search types and fields',
    ariaLabel: 'Search',
  });
  const found = element('div');
  const list = () => {
    const words = search.value.trim().toLowerCase();
    found.replaceChildren(
      ...(words === '' ? allTypes(schema, show) : matches(schema, words, show)),
    );
  };
  search.addEventListener('input', list);
  list();
  return [element('h2', { textContent: 'Schema' }), search, found];
}

function allTypes(schema: ClientSchema, show: Show): HTMLElement[] {
  const roots = OPERATIONS.flatMap((kind) => {
    const name = schema[kind];
    return name === null ? [] : [{ kind, name }];
  });
  const others = ownTypes(schema).filter(({ name }) => !roots.some((root) => root.name === name));
  const rootEntries = roots.map(({ kind, name }) => entry(`${kind}: `, typeLink(name, show)));
  return [
    ...section('Root types', rootEntries),
    ...section('All types', nameEntries(others, show)),
  ];
}

function matches(schema: ClientSchema, words: string, show: Show): HTMLElement[] {
  const matching = ({ name }: { readonly name: string }) => name.toLowerCase().includes(words);
  const types = ownTypes(schema);
  const fields = types.flatMap((type) =>
    (type.fields ?? type.inputFields ?? [])
      .filter(matching)
      .map((field) => entry(typeLink(type.name, show), `.${field.name}`)),
  );
  return [
    ...section('Types', nameEntries(types.filter(matching), show)),
    ...section('Fields', fields.slice(0, FOUND_FIELDS)),
  ];
}

/** The types of the schema without those of introspection. */
const ownTypes = (schema: ClientSchema): SchemaType[] =>
  [...schema.types.values()].filter(({ name }) => !name.startsWith('__'));

function typePage(type: SchemaType, show: Show): ElementChild[] {
  const members = (list: readonly SchemaMember[] | null | undefined) =>
    (list ?? []).map((member) => memberEntry(member, show));
  return [
    element('h2', { textContent: type.name }),
    paragraph(type.description),
    element('p', { textContent: type.kind.toLowerCase().replace('_', ' ') }),
    ...section('Fields', members(type.fields ?? type.inputFields)),
    ...section('Values', members(type.enumValues)),
    ...section('Implements', nameEntries(type.interfaces ?? [], show)),
    ...section('Is one of', nameEntries(type.possibleTypes ?? [], show)),
  ];
}

function memberEntry(member: SchemaMember, show: Show): HTMLElement {
  const className = member.isDeprecated ? 'old' : 'field';
  const args = (member.args ?? []).flatMap((arg, index) => [
    index > 0 ? ', ' : '',
    argument(arg, show),
  ]);
  return entry(
    element('span', { className, textContent: member.name }),
    ...(args.length > 0 ? ['(', ...args, ')'] : []),
    ...(member.type ? [': ', typeReference(member.type, show)] : []),
    paragraph(member.description),
    member.isDeprecated ? paragraph(`Deprecated: ${member.deprecationReason ?? ''}`) : null,
  );
}

function argument({ name, type, defaultValue }: SchemaArgument, show: Show): HTMLElement {
  const preset = defaultValue === null || defaultValue === undefined ? '' : ` = ${defaultValue}`;
  return element('span', {}, `${name}: `, typeReference(type, show), preset);
}

/** The type as SDL writes it, its name as a link. */
function typeReference(type: TypeReference, show: Show): HTMLElement {
  if (type.kind === 'NON_NULL' && type.ofType)
    return element('span', {}, typeReference(type.ofType, show), '!');
  if (type.kind === 'LIST' && type.ofType)
    return element('span', {}, '[', typeReference(type.ofType, show), ']');
  return typeLink(type.name ?? '', show);
}

const typeLink = (name: string, show: Show) => link(name, () => show(name));

function link(text: string, follow: () => void): HTMLElement {
  const made = element('a', { href: '#', textContent: text });
  made.addEventListener('click', (event) => {
    event.preventDefault();
    follow();
  });
  return made;
}

const entry = (...children: readonly ElementChild[]) =>
  element('div', { className: 'entry' }, ...children);

const nameEntries = (list: readonly { readonly name: string }[], show: Show) =>
  list.map(({ name }) => entry(typeLink(name, show)));

const section = (title: string, entries: readonly HTMLElement[]) =>
  entries.length > 0 ? [element('h3', { textContent: title }), ...entries] : [];

const paragraph = (text: string | null | undefined) =>
  text ? element('p', { textContent: text }) : null;

const present = (children: readonly ElementChild[]) =>
  children.filter((child) => child !== null && child !== undefined);
