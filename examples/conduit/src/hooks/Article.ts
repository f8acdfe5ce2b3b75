import { randomBytes } from 'node:crypto';
import type * as types from '../generated/types.ts';

export const hooks = {
  resolveInput: {
    create: ({ input }) => ({ slug: slugOf(input.title) }),
    update: ({ input, item }) =>
      input.title && input.title !== item.title ? { slug: slugOf(input.title) } : {},
  },
} satisfies types.ArticleHooks;

/** A readable part of the path, and a random one as titles repeat. */
function slugOf(title: string): string {
  const words = title
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  return `${words.replaceAll(/^-|-$/g, '')}-${randomBytes(3).toString('hex')}`;
}
