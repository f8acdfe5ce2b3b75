/** The response of `GET /api/system/schema`. */
export interface Described {
  readonly types: readonly DescribedType[];
  readonly sdl: string;
}

export interface DescribedType {
  readonly name: string;
  readonly kind: 'entity' | 'interface' | 'union' | 'enum';
  readonly table?: string;
  readonly plural?: string;
  readonly fields?: readonly DescribedField[];
  readonly relations?: readonly DescribedRelation[];
  /** The values of an enum, or the types of an interface or union. */
  readonly values?: readonly string[];
  readonly access?: unknown;
}

export interface DescribedField {
  readonly name: string;
  readonly type: string;
  readonly column: string;
  readonly unique: boolean;
  readonly indexed: boolean;
  readonly nullable: boolean;
}

export interface DescribedRelation {
  readonly field: string;
  readonly to: string;
  readonly kind: 'one' | 'many';
  readonly inverse: string | null;
  readonly column: string | null;
}
