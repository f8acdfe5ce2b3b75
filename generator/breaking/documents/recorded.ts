import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Project } from '@twofold/schema';
import { type DocumentNode, getOperationAST, parse } from 'graphql';
import type { Place } from '../change.ts';

/** A document of the trusted list. */
export interface Recorded {
  readonly operation: string;
  readonly hash: string;
  readonly text: string;
  /** Null when the text is not GraphQL. */
  readonly document: DocumentNode | null;
  readonly retired: boolean;
  readonly at: Place;
}

/** Whether nothing but the list runs, everywhere or in production. */
export const isMandatory = ({ api }: Project): boolean => Boolean(api.trustedDocuments?.required);

/** The documents of the list of a project; none without a list. */
export function recordedDocuments(root: string, { api }: Project): Recorded[] {
  const file = api.trustedDocuments?.file;
  const path = file === undefined ? null : resolve(root, file);
  if (file === undefined || path === null || !existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  return Object.entries(JSON.parse(text) as Record<string, string>).map(([key, document]) => {
    const hash = Array.isArray(JSON.parse(text)) ? sha256(document) : key.replace(/^sha256:/, '');
    const line = lines.findIndex((each) => each.includes(`"${hash}"`));
    const parsed = parsedOrNull(document);
    return {
      operation: (parsed && getOperationAST(parsed)?.name?.value) ?? hash.slice(0, 12),
      hash,
      text: document,
      document: parsed,
      retired: false,
      at: { file, line: line + 1 || 1, column: 1 },
    };
  });
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function parsedOrNull(text: string): DocumentNode | null {
  try {
    return parse(text, { noLocation: true });
  } catch {
    return null;
  }
}
