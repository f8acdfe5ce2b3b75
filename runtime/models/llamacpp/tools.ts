import { ApiFailure, invalid, type Fields } from './failure.ts';
import { literal, jsonLiteral, oneOf, Rules, UnsupportedSchema } from './grammar/rules.ts';
import { SchemaGrammar } from './grammar/schema-grammar.ts';

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
  /** Whether its arguments always fit the schema, also where the model need not call it. */
  readonly strict: boolean;
  /** Where it stands in the request, for errors. */
  readonly path: string;
}

/** What the request says about tools. */
export interface ToolUse {
  readonly tools: readonly Tool[];
  /** `none`: no tool is offered. `required`: each answer is a call. */
  readonly choice: 'none' | 'auto' | 'required';
  /** Whether one answer may have several calls. */
  readonly parallel: boolean;
}

/** The format of the answer besides calls: text, any JSON object, or JSON of a schema. */
export type AnswerFormat = null | { readonly schema: object | null; readonly path: string };

export const CALL_BEGIN = '<tool_call>';
export const CALL_END = '</tool_call>';
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_CALLS = 8;

/** @throws ApiFailure 400 that names the parameter. */
export function readToolUse(fields: Fields): ToolUse {
  const all = readTools(fields['tools']);
  const { choice, only } = readChoice(fields['tool_choice'], all);
  const parallel = fields['parallel_tool_calls'] !== false;
  return {
    tools: choice === 'none' ? [] : all.filter(({ name }) => only === null || name === only),
    choice: all.length === 0 ? 'none' : choice,
    parallel: parallel && only === null,
  };
}

function readTools(value: unknown): Tool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid('tools', 'must be a list');
  return value.map((tool: Fields | null, index) => {
    const path = `tools[${index}]`;
    if (tool?.['type'] !== 'function')
      throw invalid(`${path}.type`, 'must be function: the llamacpp engine has no other tools');
    const { name, description, parameters, strict } = (tool['function'] ?? {}) as Fields;
    if (typeof name !== 'string' || !NAME.test(name))
      throw invalid(`${path}.function.name`, 'must have up to 64 letters, digits, _ or -');
    if (parameters !== undefined && parameters !== null && typeof parameters !== 'object')
      throw invalid(`${path}.function.parameters`, 'must be a JSON Schema');
    return {
      name,
      description: typeof description === 'string' ? description : '',
      parameters: (parameters as object | null) ?? { type: 'object', properties: {} },
      strict: strict === true,
      path: `${path}.function.parameters`,
    };
  });
}

function readChoice(
  value: unknown,
  tools: readonly Tool[],
): { readonly choice: ToolUse['choice']; readonly only: string | null } {
  if (value === undefined || value === null) return { choice: 'auto', only: null };
  if (value === 'none' || value === 'auto') return { choice: value, only: null };
  const { type, function: named } = (typeof value === 'object' ? value : {}) as Fields;
  const only = (named as Fields | undefined)?.['name'];
  const isNamed = type === 'function' && tools.some(({ name }) => name === only);
  if (isNamed) return { choice: 'required', only: only as string };
  if (value !== 'required' || tools.length === 0)
    throw invalid('tool_choice', 'must be none, auto, required, or a function of tools');
  return { choice: 'required', only: null };
}

/** The instructions that offer the tools to a model, after the system message. */
export function describeTools({ tools, choice, parallel }: ToolUse): string {
  const listed = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ type: 'function', function: { name, description, parameters } }),
  );
  return [
    'These functions are available:',
    '<tools>',
    ...listed,
    '</tools>',
    choice === 'required'
      ? 'Answer with a call of a function and nothing else, in this form:'
      : 'To call a function, answer in this form:',
    `${CALL_BEGIN}\n{"name": "<name of the function>", "arguments": {<its arguments>}}\n${CALL_END}`,
    parallel ? 'Write several calls one after the other.' : 'Write one call at most.',
  ].join('\n');
}

/** The earlier call of a conversation, in the form in which the model writes it. */
export const writeCall = (name: string, args: string): string =>
  `${CALL_BEGIN}\n{"name": ${JSON.stringify(name)}, "arguments": ${args}}\n${CALL_END}`;

/**
 * The grammar that an answer must follow, or null when any text is allowed.
 *
 * @throws ApiFailure 400 that names the word of the schema that cannot be kept.
 */
export function answerGrammar(use: ToolUse, format: AnswerFormat): string | null {
  const rules = new Rules();
  try {
    const content = format && contentRule(rules, format);
    if (use.choice === 'none' || use.tools.length === 0)
      return content === null ? null : rules.print(content);
    const isStrict = use.tools.some(({ strict }) => strict);
    if (use.choice === 'auto' && content === null && !isStrict) return null;
    const calls = callsRule(rules, use);
    if (use.choice === 'required') return rules.print(calls);
    return rules.print(oneOf([calls, content ?? textRule(rules, calls)]));
  } catch (error) {
    if (!(error instanceof UnsupportedSchema)) throw error;
    throw new ApiFailure(400, error.message, { param: error.path, code: 'unsupported_schema' });
  }
}

function contentRule(rules: Rules, { schema, path }: NonNullable<AnswerFormat>): string {
  return new SchemaGrammar(rules, schema ?? { type: 'object' }, path).compile();
}

function callsRule(rules: Rules, { tools, choice, parallel }: ToolUse): string {
  const bodies = tools.map(({ name, parameters, strict, path }) => {
    const isKept = strict || choice === 'required';
    const schema = isKept ? { type: 'object', ...parameters } : { type: 'object' };
    const args = new SchemaGrammar(rules, schema, path).compile();
    return `${jsonLiteral(name)} "," " "? "\\"arguments\\":" " "? ${args}`;
  });
  const call = rules.add(
    `${literal(CALL_BEGIN)} "\\n"? "{\\"name\\":" " "? ${oneOf(bodies)} "}" "\\n"? ${literal(CALL_END)}`,
  );
  if (!parallel) return call;
  const further = rules.add(`"\\n"? ${call}`);
  return rules.add(`${call} ${further}{0,${MAX_CALLS - 1}}`);
}

/** Text that may end with calls. A call that begins in it must be a whole one. */
function textRule(rules: Rules, calls: string): string {
  const states = [...CALL_BEGIN].map(() => rules.reserve());
  const first = states[0] as string;
  // After the first characters of the mark the next one leads on, and any other leads back.
  [...CALL_BEGIN].forEach((character, index) => {
    const next = states[index + 1];
    if (next === undefined) return;
    const again = index === 0 ? '' : ` | "<" ${states[1]}`;
    const others = character === '<' ? '[^<]' : `[^<${character}]`;
    rules.define(
      states[index] as string,
      `${literal(character)} ${next}${again} | ${others} ${first} | ""`,
    );
  });
  const last = [...CALL_BEGIN].at(-1) as string;
  rules.define(states.at(-1) as string, `[^<${last}] ${first} | "<" ${states[1]} | ""`);
  return oneOf([first, rules.add(`${first} ${calls}`)]);
}
