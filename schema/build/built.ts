import type { Project } from '../model.ts';
import type { BuiltEntity } from './entities.ts';
import type { Facts } from './facts.ts';
import type { Links } from './links.ts';
import type { OperationFact } from './operations.ts';
import type { Shapes } from './shapes.ts';

/** The model and the facts that it was inferred from: the input of the rules. */
export interface Built {
  readonly project: Project;
  readonly facts: Facts;
  readonly links: Links;
  readonly shapes: Shapes;
  readonly operations: readonly OperationFact[];
  readonly entities: readonly BuiltEntity[];
}
