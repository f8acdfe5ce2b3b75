/** What can stand at a place of a document, by the schema. Runs in the browser. */
export const completionScript = String.raw`
const INTROSPECTION = 'query Introspection { __schema { queryType { name } mutationType { name } subscriptionType { name } types { kind name description fields(includeDeprecated: true) { name description isDeprecated deprecationReason args { name description defaultValue type { ...T } } type { ...T } } inputFields { name description defaultValue type { ...T } } enumValues(includeDeprecated: true) { name description isDeprecated } interfaces { name } possibleTypes { name } } directives { name description args { name type { ...T } } } } } fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }';

function readSchema(data) {
  const types = new Map(data.types.map((type) => [type.name, type]));
  const root = (name) => (data[name] ? data[name].name : null);
  return { types, directives: data.directives, query: root('queryType'), mutation: root('mutationType'), subscription: root('subscriptionType') };
}

const namedType = (type) => (type.ofType ? namedType(type.ofType) : type.name);
const typeText = (type) => (type.kind === 'NON_NULL' ? typeText(type.ofType) + '!' : type.kind === 'LIST' ? '[' + typeText(type.ofType) + ']' : type.name);

/** Walks the tokens up to the place and keeps what each bracket is about. */
function contextAt(schema, text, place) {
  const before = tokens(text.slice(0, place)).filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  const last = before[before.length - 1];
  const typing = last && last.at + last.text.length === place && ['name', 'directive', 'variable'].includes(last.kind) ? last : null;
  if (typing) before.pop();
  const stack = [{ kind: 'document' }];
  let field = null;
  let operation = 'query';
  before.forEach((token, index) => {
    const top = stack[stack.length - 1];
    const previous = before[index - 1];
    if (token.text === '{') {
      if (top.kind === 'arguments' || top.kind === 'object') stack.push({ kind: 'object', type: inputType(schema, top) });
      else stack.push({ kind: 'selection', type: top.kind === 'document' ? top.type ?? schema[operation] : top.on ?? (field && namedType(field.type)) });
      top.on = undefined;
      if (top.kind === 'document') { top.type = undefined; operation = 'query'; }
    } else if (token.text === '(') stack.push(top.kind === 'document' ? { kind: 'variables' } : { kind: 'arguments', args: top.directive ? top.directive.args : field ? field.args : [] });
    else if (token.text === '}' || token.text === ')') { if (stack.length > 1) stack.pop(); }
    else if (token.kind === 'directive') top.directive = schema.directives.find(({ name }) => '@' + name === token.text);
    else if (token.kind === 'name' && top.kind === 'document') {
      if (schema[token.text] !== undefined) operation = token.text;
      if (previous && previous.text === 'on') top.type = token.text;
    } else if (token.kind === 'name' && top.kind === 'selection') {
      if (previous && previous.text === 'on') top.on = token.text;
      else if (token.text !== 'on' && !(previous && previous.text === '...')) { field = findField(schema, top.type, token.text) ?? field; top.directive = null; }
    } else if (token.kind === 'name' && (top.kind === 'arguments' || top.kind === 'object') && !(previous && previous.text === ':')) top.key = token.text;
  });
  return { top: stack[stack.length - 1], previous: before[before.length - 1], typing, schema };
}

const findField = (schema, type, name) => {
  const found = schema.types.get(type);
  return found && found.fields ? found.fields.find((field) => field.name === name) : undefined;
};

function inputType(schema, top) {
  const list = top.kind === 'arguments' ? top.args : (schema.types.get(top.type) ?? {}).inputFields ?? [];
  const found = list.find(({ name }) => name === top.key);
  return found ? namedType(found.type) : null;
}

function completions(schema, text, place) {
  const { top, previous, typing } = contextAt(schema, text, place);
  const start = typing ? typing.text.toLowerCase() : '';
  const all = candidates(schema, top, previous, typing);
  const fitting = all.filter(({ label }) => label.toLowerCase().includes(start) && label.toLowerCase() !== start);
  const rank = ({ label }) => (label.toLowerCase().startsWith(start) ? 0 : 1);
  return { from: typing ? typing.at : place, items: fitting.sort((a, b) => rank(a) - rank(b)).slice(0, 40) };
}

const entry = ({ name, type, description }, tail) => ({ label: name, text: name + (tail ?? ''), note: type ? typeText(type) : (description ?? '').split('\n')[0] });

function candidates(schema, top, previous, typing) {
  if (typing && typing.kind === 'directive') return schema.directives.map((directive) => ({ ...entry(directive), label: '@' + directive.name, text: '@' + directive.name }));
  if (previous && previous.text === 'on' || top.kind === 'variables' && previous && [':', '['].includes(previous.text)) {
    const kinds = previous.text === 'on' ? ['OBJECT', 'INTERFACE', 'UNION'] : ['SCALAR', 'ENUM', 'INPUT_OBJECT'];
    return [...schema.types.values()].filter(({ kind, name }) => kinds.includes(kind) && !name.startsWith('__')).map((type) => entry(type));
  }
  if (top.kind === 'document') return ['query', 'mutation', 'subscription', 'fragment'].filter((word) => word === 'fragment' || schema[word]).map((word) => ({ label: word, text: word + ' ', note: '' }));
  if (top.kind === 'selection') {
    const type = schema.types.get(top.type);
    if (previous && previous.text === '...') return [{ label: 'on', text: 'on ', note: '' }];
    return [...((type && type.fields) ?? []), { name: '__typename', args: [], type: { kind: 'SCALAR', name: 'String' } }].map((field) => entry(field));
  }
  const members = top.kind === 'arguments' ? top.args : (schema.types.get(top.type) ?? {}).inputFields ?? [];
  if (previous && previous.text === ':') {
    const member = members.find(({ name }) => name === top.key);
    const type = member && schema.types.get(namedType(member.type));
    if (type && type.enumValues) return type.enumValues.map((value) => entry(value));
    return type && type.name === 'Boolean' ? ['true', 'false'].map((label) => ({ label, text: label, note: 'Boolean' })) : [];
  }
  return members.map((member) => entry(member, ': '));
}
`;
