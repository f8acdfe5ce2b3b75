import type { RequestContext } from '../../context/request-context.ts';
import type { GraphqlHooks } from '../../plugin.ts';
import {
  type DocumentRules,
  parseDocument,
  type ReadDocument,
  validateDocument,
} from '../document.ts';
import type { DocumentOptions } from '../document-cache.ts';
import { runAfter, runBefore } from './order.ts';

/** Reads a document with `onParse` and `onValidate`; undefined when no plugin has them. */
export function documentHooks(plugins: readonly GraphqlHooks[]): DocumentOptions['read'] {
  const parse = plugins.flatMap(({ onParse }) => onParse ?? []);
  const validate = plugins.flatMap(({ onValidate }) => onValidate ?? []);
  if (parse.length === 0 && validate.length === 0) return undefined;
  return async (text, rules, ctx) => {
    const parsed = await hookedParse(parse, text, rules, ctx);
    if (!parsed.document) return parsed;
    const { document } = parsed;
    return hookedValidate(validate, { text, document, rules, ctx });
  };
}

async function hookedParse(
  hooks: readonly NonNullable<GraphqlHooks['onParse']>[],
  source: string,
  rules: DocumentRules,
  ctx: RequestContext,
): Promise<ReadDocument> {
  const after = await runBefore(hooks, { source, ctx });
  const parsed = parseDocument(source, rules);
  await runAfter(after, { document: parsed.document });
  return parsed;
}

interface Validated {
  readonly text: string;
  readonly document: NonNullable<ReadDocument['document']>;
  readonly rules: DocumentRules;
  readonly ctx: RequestContext;
}

async function hookedValidate(
  hooks: readonly NonNullable<GraphqlHooks['onValidate']>[],
  { text, document, rules, ctx }: Validated,
): Promise<ReadDocument> {
  const after = await runBefore(hooks, { document, ctx });
  const read = validateDocument(text, document, rules);
  await runAfter(after, { errors: read.errors ?? [] });
  return read;
}
