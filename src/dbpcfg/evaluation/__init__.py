"""Scores of predicted trees against gold trees, each with a signature of its convention.

================  ================================================================================
``evaluate``      all of the below from one pass over gold and predicted trees
``alignment``     which gold word each word of a predicted tree is
``brackets``      both trees as spans over the same words, without punctuation
``convention``    what counts, and the signature that says so
``parseval``      precision, recall and F1
``nounphrases``   recall of the gold constituents of a category
``aggregate``     which induced labels are that category: the paper's aggregate F1
``labels``        induced against gold labels: many-to-one accuracy and V-measure
``flattening``    flat trees from binary ones; ``headedness``: by which heads
``depths``        the memory depth that trees need
``significance``  paired permutation tests and bootstrap intervals
``tables``        tables of all of it
================  ================================================================================
"""
