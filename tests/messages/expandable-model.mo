expandable model M
end M;
