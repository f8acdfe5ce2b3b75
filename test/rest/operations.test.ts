import { describe, expect, it } from 'vitest';
import {
  createOperations,
  fieldNode,
  prepareOperation,
} from '../../runtime/core/rest/operations.ts';

describe('operations of REST', () => {
  const make = () => prepareOperation(fieldNode('rest get Post', { args: ['id'] }));

  it('are made once for each shape of a request', () => {
    const operations = createOperations();
    expect(operations('1', make)).toBe(operations('1', make));
    expect(operations('1', make)).not.toBe(operations('2', make));
  });

  it('are forgotten when they were not used for long, so that a client cannot fill the memory with them', () => {
    const operations = createOperations(3);
    const [first, second] = [operations('1', make), operations('2', make)];
    operations('3', make);
    expect(operations('1', make)).toBe(first);
    operations('4', make);
    expect(operations('1', make)).toBe(first);
    expect(operations('2', make)).not.toBe(second);
  });
});
