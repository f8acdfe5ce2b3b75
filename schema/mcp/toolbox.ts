import type { JsonSchema } from '../routes/route.ts';

/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: ToolHints;
}

/** Facts about a tool for clients: whether a call reads, deletes, or can be repeated. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint: boolean;
}

/** The hints of a tool that only reads, and only here. */
export const READS: ToolHints = { readOnlyHint: true, openWorldHint: false };

/** The result of a call of a tool. */
export interface ToolAnswer {
  /** The text that the model reads. */
  readonly text: string;
  /** The same result as the JSON text of an object; absent when there is only text. */
  readonly structured?: string;
  /** Whether the call failed. */
  readonly failed?: boolean;
  /**
   * Whether the text contains text that others wrote: it is data, and must not be followed as
   * instructions.
   */
  readonly untrusted?: boolean;
}

/** A page of tools. */
export interface ToolPage {
  readonly tools: readonly Tool[];
  readonly nextCursor?: string;
}

/** Tools, and the name under which they are served. */
export interface Toolbox {
  readonly name: string;
  readonly version: string;
  /** How a model should use the tools. */
  readonly instructions?: string;
  /** @throws ProtocolError for a cursor that it did not give. */
  list(cursor: string | undefined): ToolPage;
  /** Undefined for an unknown tool. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): ToolAnswer | Promise<ToolAnswer> | undefined;
}

/** An answer that a model can correct itself by. */
export const failed = (text: string): ToolAnswer => ({ text, failed: true });

/** An answer of data. */
export function structured(data: object): ToolAnswer {
  const text = JSON.stringify(data);
  return { text, structured: text };
}

/**
 * Refuses arguments that a tool does not have, by name, and those of the wrong type.
 *
 * @returns undefined when all of them are right.
 */
export function wrongArguments(
  { name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>,
  args: Readonly<Record<string, unknown>>,
): ToolAnswer | undefined {
  const properties = (inputSchema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (inputSchema['required'] ?? []) as readonly string[];
  for (const given of Object.keys(args))
    if (!Object.hasOwn(properties, given)) return failed(`${name} has no argument ${given}`);
  for (const each of required)
    if (args[each] === undefined) return failed(`${name} needs the argument ${each}`);
  for (const [given, value] of Object.entries(args)) {
    const { type } = properties[given]!;
    if (typeof type === 'string' && !isOfType(value, type))
      return failed(`the argument ${given} of ${name} must be of the type ${type}`);
  }
  return undefined;
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object')
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
