import { describe, expect, it } from 'vitest';
import { createDocuments } from '../../runtime/core/rest/documents.ts';

describe('documents of REST', () => {
  const text = (index: number) => `{ it: rest_get_Post(id: ${index}) { id } }`;

  it('are parsed once for each shape of a request', () => {
    const documents = createDocuments();
    expect(documents(text(1))).toBe(documents(text(1)));
    expect(documents(text(1))).not.toBe(documents(text(2)));
  });

  it('are forgotten when they were not used for long, so that a client cannot fill the memory with them', () => {
    const documents = createDocuments(3);
    const [first, second] = [documents(text(1)), documents(text(2))];
    documents(text(3));
    expect(documents(text(1))).toBe(first);
    documents(text(4));
    expect(documents(text(1))).toBe(first);
    expect(documents(text(2))).not.toBe(second);
  });
});
