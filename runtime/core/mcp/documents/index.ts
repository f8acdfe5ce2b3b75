import type { McpSettings } from '@twofold/schema';
import { failed, type Tool } from '@twofold/schema/mcp';
import type { Service } from '../../graphql/service.ts';
import { runDocument } from '../run-document.ts';
import type { ToolSource } from '../tool-source.ts';
import { type DocumentTool, toolsOfDocuments, type LiveDocument } from './document-tools.ts';

export interface DocumentsOptions {
  readonly service: Service;
  readonly mcp: McpSettings;
  /**
   * The live documents, those of the first front end first. Absent when the generator does not keep
   * the list: then all are live.
   */
  readonly live?: readonly LiveDocument[] | undefined;
}

/**
 * Each live document of the trusted list as a tool. They are read when they are first asked for.
 */
export function createDocuments(options: DocumentsOptions): ToolSource {
  const { service, mcp } = options;
  let made: ReturnType<typeof prepare> | undefined;
  const prepared = () => (made ??= prepare(options));
  return {
    tools: (writes) => (writes ? prepared().all : prepared().queries),
    call: (name, args, caller) => {
      const { documents } = prepared();
      const document = documents.get(name);
      if (!document) return undefined;
      const unknown = Object.keys(args).find((each) => !document.variables.has(each));
      if (unknown !== undefined) return failed(`${name} has no argument ${unknown}`);
      const operation = { query: document.text, operationName: name, variables: args };
      return runDocument(service, mcp, operation, caller);
    },
  };
}

/**
 * Makes a tool of a document. A document with a mutation becomes a tool only with `writes: true`.
 */
function prepare({ service, mcp, live }: DocumentsOptions) {
  const tools = toolsOfDocuments(service, live).filter(({ writes }) => mcp.writes || !writes);
  const named = (some: readonly DocumentTool[]): ReadonlyMap<string, Tool> =>
    new Map(some.map(({ tool }) => [tool.name, tool]));
  return {
    documents: new Map(tools.map((each) => [each.tool.name, each])),
    all: named(tools),
    queries: named(tools.filter(({ writes }) => !writes)),
  };
}
