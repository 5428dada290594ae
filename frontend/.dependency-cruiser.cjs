// Layers of the frontend: app -> features -> shared folders. A feature never imports another feature.
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "features-are-apart",
      comment:
        "A feature imports no other feature: compose them in app/, or move what they share into a shared folder.",
      severity: "error",
      from: { path: "^src/features/([^/]+)/" },
      to: { path: "^src/features/", pathNot: "^src/features/$1/" },
    },
    {
      name: "only-app-is-above-features",
      severity: "error",
      from: { path: "^src/(?!app/)" },
      to: { path: "^src/app/" },
    },
    {
      name: "shared-knows-no-feature",
      severity: "error",
      from: { path: "^src/(plots|api|components|lib)/" },
      to: { path: "^src/features/" },
    },
    {
      name: "lib-stands-alone",
      comment: "lib/ has plain functions only: no React, requests or components.",
      severity: "error",
      from: { path: "^src/lib/" },
      to: { path: "^src/(?!lib/)|node_modules/(react|@mantine|@tanstack)" },
    },
    {
      name: "requests-only-in-queries",
      comment: "Declare each request once, with its key and invalidation, in a queries file of its feature.",
      severity: "error",
      from: { path: "^src/(features|app|components)/", pathNot: "/\\w*[qQ]ueries\\.ts$" },
      to: { path: "^src/api/(client|requests)\\.ts$" },
    },
    {
      name: "plotly-only-through-plot",
      severity: "error",
      from: { pathNot: "^src/plots/" },
      to: { path: "node_modules/plotly\\.js", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "testing-stays-in-tests",
      severity: "error",
      from: { pathNot: "\\.test\\.tsx?$|^testing/" },
      to: { path: "^testing/" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "nothing-unresolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-dead-files",
      severity: "error",
      from: { orphan: true, pathNot: "\\.d\\.ts$|\\.test\\.tsx?$" },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "browser", "default", "types"],
    },
  },
};
