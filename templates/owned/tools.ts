import type { Project } from '@twofold/schema';
import { code, file, HEADER } from '../code.ts';
import { literal } from '../literal.ts';

/** The path of the file that `renderTools` makes. */
export const TOOLS_FILE = 'src/generated/tools.ts';

/** A document that a front end uses. */
export interface ToolDocument {
  readonly hash: string;
  /** The comment above its operation. */
  readonly description: string | null;
}

/** Whether `api.mcp` makes tools of the documents of front ends. */
export const hasTools = ({ clients, api: { mcp } }: Project): boolean =>
  clients !== undefined && mcp !== undefined && mcp.tools !== 'explore';

/**
 * `src/generated/tools.ts`: the documents of the trusted list that front ends use. The list also
 * has older ones, which are not offered as tools.
 */
export function renderTools(documents: readonly ToolDocument[]): string {
  const tools = documents.map(({ hash, description }) => ({
    hash,
    ...(description !== null && { description }),
  }));
  return file(
    HEADER,
    code`
      /** The documents of the front ends, by the hash that the trusted list has. */
      export const tools = ${literal(tools)};
    `,
  );
}
