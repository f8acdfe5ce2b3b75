import type { Tool, ToolAnswer } from '@twofold/schema/mcp';
import type { Context } from 'koa';
import type { RequestContext } from '../context/request-context.ts';

/** A group of tools that are made from the API. */
export interface ToolSource {
  /** The tools of a caller who may write, or may not, by name. */
  tools(writes: boolean): ReadonlyMap<string, Tool>;
  /** Calls a tool. Undefined if the group does not have the tool, or the caller may not write. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    caller: ToolCaller,
  ): ToolAnswer | Promise<ToolAnswer> | undefined;
}

/** The request that a call came with. */
export interface ToolCaller {
  readonly koa: Context;
  readonly context: RequestContext;
  /** @throws AppError 403 when mutations are on, and the caller's key has no scope for them. */
  assertMayWrite(): void;
}
