/** The schema to read: types, their fields, a search. Runs in the browser. */
export const documentationScript = String.raw`
function make(tag, options, ...children) {
  const element = Object.assign(document.createElement(tag), options);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function createDocumentation(host, schemaOf) {
  const path = [];
  const show = (name) => { path.push(name); draw(); };
  function typeLink(type) {
    if (type.kind === 'NON_NULL') return make('span', {}, typeLink(type.ofType), '!');
    if (type.kind === 'LIST') return make('span', {}, '[', typeLink(type.ofType), ']');
    return link(type.name);
  }
  const link = (name) => make('a', { href: '#', textContent: name, onclick: (event) => { event.preventDefault(); show(name); } });
  const text = (description) => (description ? make('p', { textContent: description }) : null);
  const argument = (arg) => make('span', {}, arg.name + ': ', typeLink(arg.type), arg.defaultValue === null || arg.defaultValue === undefined ? '' : ' = ' + arg.defaultValue);
  function fieldEntry(field) {
    const args = (field.args ?? []).flatMap((arg, index) => [index > 0 ? ', ' : '', argument(arg)]);
    const name = make('span', { className: field.isDeprecated ? 'old' : 'field', textContent: field.name });
    return make('div', { className: 'entry' }, name, ...(args.length > 0 ? ['(', ...args, ')'] : []), field.type ? ': ' : '', field.type ? typeLink(field.type) : null, text(field.description), field.isDeprecated ? text('Deprecated: ' + (field.deprecationReason ?? '')) : null);
  }
  const section = (title, entries) => (entries && entries.length > 0 ? [make('h3', { textContent: title }), ...entries] : []);
  const names = (list) => (list ?? []).map(({ name }) => make('div', { className: 'entry' }, link(name)));

  function typePage(type) {
    return [
      make('h2', { textContent: type.name }), text(type.description), make('p', { textContent: type.kind.toLowerCase().replace('_', ' ') }),
      ...section('Fields', (type.fields ?? type.inputFields ?? []).map(fieldEntry)),
      ...section('Values', (type.enumValues ?? []).map(fieldEntry)),
      ...section('Implements', names(type.interfaces)),
      ...section('Is one of', names(type.possibleTypes)),
    ];
  }

  function startPage(schema) {
    const search = make('input', { type: 'search', placeholder: 'Search types and fields', ariaLabel: 'Search' });
    const found = make('div', {});
    const all = [...schema.types.values()].filter(({ name }) => !name.startsWith('__'));
    const roots = ['query', 'mutation', 'subscription'].filter((kind) => schema[kind]);
    const list = () => {
      const words = search.value.trim().toLowerCase();
      if (words === '') return found.replaceChildren(...section('Root types', roots.map((kind) => make('div', { className: 'entry' }, kind + ': ', link(schema[kind])))), ...section('All types', names(all.filter(({ name }) => !roots.some((kind) => schema[kind] === name)))));
      const types = all.filter(({ name }) => name.toLowerCase().includes(words));
      const fields = all.flatMap((type) => (type.fields ?? type.inputFields ?? []).filter(({ name }) => name.toLowerCase().includes(words)).map((field) => make('div', { className: 'entry' }, link(type.name), '.' + field.name)));
      found.replaceChildren(...section('Types', names(types)), ...section('Fields', fields.slice(0, 60)));
    };
    search.addEventListener('input', list);
    list();
    return [make('h2', { textContent: 'Schema' }), search, found];
  }

  function draw() {
    const schema = schemaOf();
    if (!schema) return host.replaceChildren(make('h2', { textContent: 'Schema' }), text('The schema cannot be read: introspection is off, or you have to sign in (set a header below the editor).'));
    const type = schema.types.get(path.at(-1));
    const back = make('a', { href: '#', textContent: '‹ ' + (path.at(-2) ?? 'Schema'), onclick: (event) => { event.preventDefault(); path.pop(); draw(); } });
    host.replaceChildren(...(type ? [back, ...typePage(type).filter((part) => part !== null)] : startPage(schema)));
  }
  return { draw };
}
`;
