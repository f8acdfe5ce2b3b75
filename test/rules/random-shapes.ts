/** What reads rows in other ways than a list: each has to hide what the rules hide. */
export const readShapes = (type: string, plural: string): string => `
  type ${type}Aggregate { count: Int! countDistinct: ${type}Counts! sum: ${type}Sums! min: ${type}Values! max: ${type}Values! }
  type ${type}Counts { owner: Int! label: Int! } type ${type}Sums { number: Int } type ${type}Values { secret: String number: Int }
  type ${type}Group { key: ${type}Key! count: Int! }
  type ${type}Key { label: String owner: User secret: String }
  enum ${type}GroupBy { LABEL OWNER SECRET } enum ${type}Field { LABEL OWNER SECRET }
  input ${type}By { secret: Direction label: Direction owner: NameBy children: CountBy parent: LabelBy${type} }
  input LabelBy${type} { label: Direction secret: Direction }
  extend type Query {
    ${plural}Aggregate(where: ${type}Filter, search: String): ${type}Aggregate!
    ${plural}Found(search: String, where: ${type}Filter, limit: Int): [${type}!]! @resolve(as: LIST)
    ${plural}Pages(search: String, first: Int, after: String): ${type}Connection! @resolve(as: LIST)
    ${plural}Groups(by: [${type}GroupBy!]!): [${type}Group!]!
    ${plural}By(orderBy: [${type}By!], distinct: [${type}Field!], where: ${type}Filter): [${type}!]! @resolve(as: LIST)
  }`;

export const SHARED_SHAPES = 'input NameBy { name: Direction } input CountBy { count: Direction }';

/** Root fields that ask by these ways, without arguments that are random. */
export const askShapes = (plural: string): readonly string[] => [
  `g0: ${plural}Aggregate { count }`,
  `g1: ${plural}Aggregate { countDistinct { label } sum { number } max { number } }`,
  `g2: ${plural}Aggregate { min { secret } max { secret } }`,
  `g3: ${plural}Aggregate(where: { secret: { isNull: false } }) { count countDistinct { owner } }`,
  `g4: ${plural}Groups(by: [LABEL]) { key { label } count }`,
  `g5: ${plural}Groups(by: [SECRET]) { key { secret } count }`,
  `g6: ${plural}Groups(by: [OWNER]) { key { owner { id } } count }`,
  `o1: ${plural}By(orderBy: [{ owner: { name: ASC } }]) { id }`,
  `o2: ${plural}By(orderBy: [{ children: { count: DESC } }]) { id }`,
  `o3: ${plural}By(orderBy: [{ parent: { secret: DESC } }]) { id }`,
  `d1: ${plural}By(distinct: [OWNER]) { id }`,
  `d2: ${plural}By(distinct: [SECRET], orderBy: [{ label: DESC }]) { id }`,
  `f1: ${plural}Found(search: "ant or bee") { id rank excerpt }`,
  `f2: ${plural}Found(search: "c* -dog", limit: 2) { id rank }`,
  `f3: ${plural}Pages(search: "dog or cat", first: 2) { totalCount edges { cursor node { id } } pageInfo { hasNextPage } }`,
  `f4: ${plural}Aggregate(search: "bee") { count countDistinct { label } max { number } }`,
  `f5: ${plural} { id children(search: "ant") { totalCount nodes { id rank } } }`,
];
