"""A published table, run again: the paper's figures beside ours.

==============  ==================================================================================
``keys``        what each key of a recipe may be
``recipe``      a recipe: corpus, systems, settings, measures, published figures
``recipetext``  checks of its keys and values, with the line of what is wrong
``rows``        its rows and the published figures
``recipefile``  the recipe file: read, and checked before anything runs
``treebank``    the sentences of the recipe, written to a file
``grids``       a sweep for each row of the table
``entries``     the scores of the trees of a cell: of every chain, selected, flattened
``result``      all of them, and tests
``groups``      entries by row; their spread, and where a published figure lies in it
``rivals``      permutation tests against the best rival
``depth``       how many sentences need which memory depth
``tables``      the paper's table with our rows, spread and tests
``figure``      a plot of all runs and the published figures
``page``        a page with tables and figures
``output``      JSON, LaTeX and the page
``recipes/``    the recipes of the package
==============  ==================================================================================

A row of the table is a sweep (`dbpcfg.sweep`), so finished cells are kept. Recipes are data.
"""
